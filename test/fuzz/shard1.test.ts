import { shard } from "./shard.js";

shard(1);
