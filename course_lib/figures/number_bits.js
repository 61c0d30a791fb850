// One number in several formats: bits, value, error. data: formats (name, title, exponent and fraction bits, infinity),
// numbers (name, value), first, reach: the largest power of two either way, biases: a sentence.
ui => {
  const {formats, numbers, first, reach} = ui.data, look = ui.look;
  let at = first, power = 0;
  ui.choice("number", numbers.map(n => n.name), i => { at = i; }, first);
  const superscript = n => String(n).replace("-", "−");
  ui.slider("times 2 to the", {min: -reach, max: reach, value: 0, say: superscript}, p => { power = p; });
  // To the nearest number of a format, halves to even; what is too large becomes infinite, or NaN.
  const rounded = (x, f) => {
    const bias = 2 ** (f.exponent - 1) - 1;
    let e = Math.floor(Math.log2(x));
    if (2 ** e > x) e--;
    if (2 ** (e + 1) <= x) e++;
    const step = 2 ** (Math.max(e, 1 - bias) - f.fraction), q = x / step, low = Math.floor(q), rest = q - low;
    const up = rest > .5 || (rest === .5 && low % 2 === 1) ? 1 : 0, value = (low + up) * step;
    const largest = f.infinity ? 2 ** bias * (2 - 2 ** -f.fraction) : 2 ** (bias + 1) * (2 - 2 * 2 ** -f.fraction);
    return value > largest ? (f.infinity ? Infinity : NaN) : value;
  };
  const bits = (v, f) => {
    const bias = 2 ** (f.exponent - 1) - 1, ones = 2 ** f.exponent - 1, word = (n, wide) => n.toString(2).padStart(wide, "0");
    if (!isFinite(v)) return "0" + word(ones, f.exponent) + word(isNaN(v) ? 2 ** f.fraction - 1 : 0, f.fraction);
    let e = v ? Math.floor(Math.log2(v)) : 1 - bias;
    if (v && 2 ** e > v) e--;
    if (v && 2 ** (e + 1) <= v) e++;
    const normal = e >= 1 - bias && v > 0, step = 2 ** (Math.max(e, 1 - bias) - f.fraction);
    return "0" + word(normal ? e + bias : 0, f.exponent) + word(v / step - (normal ? 2 ** f.fraction : 0), f.fraction);
  };
  const told = (v, x) => {
    if (isNaN(v)) return "NaN: too large, and there is no infinity";
    if (!isFinite(v)) return "infinity: too large";
    if (v === x) return `${+v.toPrecision(9)}`;
    const off = 100 * Math.abs(v - x) / x;
    return v ? `${+v.toPrecision(7)}, off by ${+off.toPrecision(2)} %` : "0: too small";
  };
  ui.draw = () => {
    const x = numbers[at].value * 2 ** power, cell = Math.max(9, Math.min(16, (Math.min(ui.width, 640) - 16) / 32)), row = 46;
    const W = 16 + 32 * cell, H = row * formats.length + 6;
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const seen = formats.map((f, i) => {
      const v = rounded(x, f), b = bits(v, f), y = row * i;
      ui.svg("text", {x: 8, y: y + 16}, svg, `${f.title}: ${told(v, x)}`);
      [...b].forEach((bit, k) => {
        const role = k === 0 ? look.idle : k <= f.exponent ? look.weight : look.data;
        ui.svg("rect", {x: 8 + cell * k, y: y + 22, width: cell, height: 16, fill: role, stroke: role,
          "fill-opacity": bit === "1" ? .6 : .12}, svg);
        if (cell >= 11) ui.svg("text", {x: 8 + cell * (k + .5), y: y + 34.5, "text-anchor": "middle"}, svg, bit);
      });
      return [f.name, v, b];
    });
    const lost = seen.filter(s => !isFinite(s[1])).length, zero = seen.filter(s => s[1] === 0).length;
    ui.root.dataset.seen = JSON.stringify(seen.map(([name, v, b]) => [name, String(v), b]));
    ui.root.dataset.number = String(x);
    const one = n => n === 1 ? "one format" : `${n} formats`;
    ui.caption(`${+x.toPrecision(7)}. Grey: sign, orange: exponent, blue: fraction; darker is 1.` +
      (lost ? ` Too large for ${one(lost)}.` : "") + (zero ? ` Too small for ${one(zero)}.` : "") + ` ${ui.data.biases}`);
  };
}
