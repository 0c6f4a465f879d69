"""From the initial to the matched shape; branches, envelopes, design.

Read `morph` (Fig. 5 of [dJ23]), then `problem` and `newton_morph` (constrained Newton
steps instead); `starts` and `hopping` look for lower minima; `reactions`, `saddles`,
`branches`, `envelope` and `design` use them.
"""
