"""Files, records, strings, summaries."""
