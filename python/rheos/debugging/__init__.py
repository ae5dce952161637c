"""`rheos debug`, which stops a program in its steps."""
