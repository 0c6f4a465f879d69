"""What a fold is asked to do: phases of driven creases, heat, moments and loads."""
