"""What serving a model costs: owning, renting, an API; break-evens and what is not known.

Pure functions of numbers or arrays that broadcast against each other, without any default of their own.
Amounts of money are US dollars, rates of interest and shares are of 1, months are a twelfth of a year.
"""
