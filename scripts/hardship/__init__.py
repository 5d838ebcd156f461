"""What reliability.py is made of: the program in a folder of its own, and ways to make its life hard."""
