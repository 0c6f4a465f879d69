"""The command line: `app` starts it; its groups declare the commands.

The groups are `run_commands`, `scan_commands`, `mechanism_commands` and
`result_commands`. They and `options` import nothing heavy: what a command works with,
it imports when it runs. The other modules are what commands do, and are imported then.
"""
