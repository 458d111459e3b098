"""The pages of ``docs/``. Reads only Markdown; the web decides on its look."""
