"""Everything about notebooks that students never see: building, guarding, linting and comparing them.

Reading order: ``scripts`` (a lesson's source), ``execute``, ``clean``, ``build`` (the three in a row); then what says
no: ``guards`` (a built file), ``lint`` (a lesson as such), ``nbval_gate`` with ``tolerance`` (outputs that changed).
"""
