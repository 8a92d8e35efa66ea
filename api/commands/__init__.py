"""The commands of `muniment`, one module each: what they are asked, and how their answers read."""
