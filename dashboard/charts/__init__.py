"""Figures of the review pages: frames in, Plotly figures out. Names from data are escaped here."""
