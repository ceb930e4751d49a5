"""The formats of other programs (fuzzylite's FLL, MATLAB's ``.fis``) and tables in Markdown and LaTeX."""
