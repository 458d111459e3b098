"""The pages of ``docs/``, from a checkout or an installation: ordered by ``index.md``, and searchable.

Reads only Markdown; the web decides on its look.
"""
