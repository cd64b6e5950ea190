# The same with a barrier after 255 of them.
