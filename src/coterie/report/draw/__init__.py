"""The parts that all pages are drawn with: the study page, the audit page, the statement.

Pictures have no viewBox: x is in percent, y and text in pixels, so a picture is as wide as the page and its text is never
scaled. What has to keep its shape at a place in percent stands in a `place`; curves stand in a `stretched` part.
"""
