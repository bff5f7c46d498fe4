"""The intermediate representation: rows, tables, builder, checks, text form and files."""
