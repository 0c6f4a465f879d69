"""What a fold is asked to do: phases of driven creases, moments and loads."""
