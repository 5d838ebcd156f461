"""What the documentation shows: each maker returns Markdown; `refresh_docs.py` puts it in its place."""
