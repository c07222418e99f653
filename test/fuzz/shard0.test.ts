import { shard } from "./shard.js";

shard(0);
