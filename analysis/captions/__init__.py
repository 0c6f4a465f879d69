"""Words and numbers below a figure: templates, digits, Markdown, LaTeX and HTML."""
