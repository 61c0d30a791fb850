"""What a training step costs on a card, and what overlaps: the measurements of lesson 16.

Source: the course's own.
"""
