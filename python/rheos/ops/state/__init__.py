"""Variables, tables, and what else a session keeps."""
