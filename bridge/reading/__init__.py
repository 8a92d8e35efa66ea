"""What is read of a base at a moment: answers, facts, graphs, and the moments themselves."""
