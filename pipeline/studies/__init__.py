"""What a study is, which runs it has, and how an adaptive one searches.

Begin with `file`, then `members`.
"""
