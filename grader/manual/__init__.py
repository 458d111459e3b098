"""The pages of ``docs/``: found in a checkout or in an installation, put in order by ``index.md``, and searched.

Reads Markdown and nothing else; what it looks like is decided by the web.
"""
