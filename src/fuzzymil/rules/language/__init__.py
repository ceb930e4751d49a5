"""The rule language: lexer, parser and printer; printed text parses back to the same rules."""
