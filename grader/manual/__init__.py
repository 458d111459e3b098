"""The pages of ``docs/``, ordered by ``index.md``, and searchable. Reads only Markdown; the web decides on
its look.
"""
