-- Table `option_outcomes`: one row a wanted option, told by Python.
FROM rows
