"""Parsers that several formats share: files of Chrome, protobuf, SQLite and text, as records."""
