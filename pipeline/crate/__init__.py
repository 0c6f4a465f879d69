"""What the archive is: begin with `contents`, then `description`, then `archive`.

`reading` opens one again and `comparison` tells whether it came out the same.
"""
