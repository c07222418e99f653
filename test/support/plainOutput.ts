/** Removes variables that change the output of programs: forced colours, the width of a terminal. */
for (const name of ["FORCE_COLOR", "NO_COLOR", "COLUMNS"]) delete process.env[name];
