"""The command line: one module a command, all of them over :class:`app.host.Host`."""
