/** The generator alone, which the main file of the package has with six others. */
declare module "seedrandom/seedrandom.js" {
  export { default } from "seedrandom";
}
