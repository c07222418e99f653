import { expect, test } from "vitest";
import { kindOf, unitOf } from "../../site/src/data/cells.js";

test("a column of people is known by its name, whatever is in it", () => {
  for (const name of ["user", "userId", "customer_id", "Patient No", "visitor", "session-key", "E-Mail"])
    expect([name, kindOf(name, ["a7", "b2", "a7"], ".")]).toEqual([name, "person"]);
  expect(kindOf("user id", [4, 7, 4], ".")).toBe("person");
  for (const name of ["username length", "users online", "deviceload", "order id"])
    expect(kindOf(name, [4, 7, 4], ".")).not.toBe("person");
  expect(kindOf("city", ["Rome", "Oslo"], ".")).toBe("text");
});

test("a unit is one that the column's name tells, never the name itself", () => {
  const units = {
    "load (ms)": "ms",
    "power [kW]": "kW",
    wait_ms: "ms",
    "size MB": "MB",
    price: "",
    queries: "",
  };
  for (const [name, unit] of Object.entries(units)) expect([name, unitOf(name)]).toEqual([name, unit]);
});
