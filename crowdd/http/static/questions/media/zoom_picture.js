/* A large picture: `picture` can all that it needs. */
import { create } from "./picture.js";
export { create };
