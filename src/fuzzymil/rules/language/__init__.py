"""The rule language: lexer, parser and printer; what is printed reads back as the same rules."""
