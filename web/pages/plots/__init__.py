"""Plots, as data for the templates' inline SVG: places are computed here, as percent of the plot's width and height,
so that text keeps its size at every width and no page needs an inline style."""
