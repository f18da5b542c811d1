"""The rules, one a module. Each is a function of a Case with the decorator `rule`; its module's docstring is what
`simrt rule CODE` prints: what a listener notices, which rule of the protocol is behind it, and how to mend it."""
