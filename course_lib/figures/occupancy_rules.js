// What an SM holds of blocks: the arithmetic of `estimate.occupancy`, for scripts that `// include` it.
// They have before it: now (threads, registers, shared of a block), up(n, unit) rounds up, many(n, noun) counts in words.
  const warpsByRegisters = (d, r) => Math.floor(d.registers / d.partitions / up(32 * r, d.registerUnit)) * d.partitions;
  const held = d => {
    const {threads, registers, shared} = now, warps = Math.ceil(threads / 32);
    if (shared > d.sharedBlock) return {refused: `A block takes ${many(shared, "byte")} of shared memory; an SM of the ` +
      `${d.name} gives a block at most ${d.sharedBlock.toLocaleString("en")}.`};
    const needed = up(warps, d.partitions);
    let most = d.registersThread;
    while (most > 1 && warpsByRegisters(d, most) < needed) most--;
    if (registers > most) return {refused: `A thread takes ${registers} registers; with ${threads} threads a block it can have ` +
      `at most ${most}: the launch is refused.`};
    const limits = {threads: Math.floor(d.warps / warps), blocks: d.blocks};
    if (shared) limits["shared memory"] = Math.floor(d.shared / up(shared + d.reserved, d.sharedUnit));
    limits.registers = Math.floor(warpsByRegisters(d, registers) / warps);
    const blocks = Math.min(...Object.values(limits));
    return {limits, blocks, warps, by: Object.keys(limits).filter(k => limits[k] === blocks)};
  };
