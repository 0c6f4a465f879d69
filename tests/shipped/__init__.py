"""The shipped workflow in a copy of the project, as users see it: make test-shipped."""
