// Which members of a scope come before which.

/** @typedef {import("./nesting.js").Net} Net */

/** Least number of members that nothing is joined to that stand side by side. */
const ROW = 8;

/**
 * Return the rank of each member, and whether it is in the flow from what enters or comes first.
 *
 * A member stands as early as what leads to it allows, but outside the flow as late as what needs it.
 *
 * @param {number} count
 * @param {Net[]} nets
 * @param {(member: number) => boolean} first
 */
export function ranks(count, nets, first) {
  const rank = new Int32Array(count).fill(nets.some((net) => net.source < 0) ? 1 : 0);
  /** @type {number[][]} */
  const feeds = Array.from({ length: count }, () => []);
  const flow = new Uint8Array(count);
  const reached = new Uint8Array(count);
  for (let member = 0; member < count; member++) flow[member] = first(member) ? 1 : 0;
  for (const net of nets)
    for (const target of net.targets) {
      reached[target] = 1;
      if (net.source >= 0) feeds[net.source].push(target);
      else flow[target] = 1;
    }
  for (let member = 0; member < count; member++)
    for (const target of feeds[member]) {
      if (rank[target] <= rank[member]) rank[target] = rank[member] + 1;
      if (flow[member]) flow[target] = 1;
    }
  for (let member = count - 1; member >= 0; member--)
    if (feeds[member].length && !flow[member]) rank[member] = latest(rank, feeds[member]);
  sink(nets, rank, feeds, first);
  const lone = [];
  for (let member = 0; member < count; member++)
    if (!feeds[member].length && !reached[member] && !first(member)) lone.push(member);
  const across = Math.max(ROW, Math.ceil(Math.sqrt(lone.length)));
  lone.forEach((member, position) => (rank[member] += Math.floor(position / across)));
  return { rank, flow };
}

/**
 * Return the last rank before all of some members.
 *
 * @param {Int32Array} rank
 * @param {number[]} targets
 */
function latest(rank, targets) {
  let least = rank[targets[0]];
  for (const target of targets) if (rank[target] < least) least = rank[target];
  return least - 1;
}

/**
 * Move members later that then make the picture narrower, such as the slices of an input that a loop reads.
 *
 * What leads to such a member grows longer, but as one line if it leads to several; what leads away grows shorter.
 *
 * @param {Net[]} nets
 * @param {Int32Array} rank
 * @param {number[][]} feeds
 * @param {(member: number) => boolean} first
 */
function sink(nets, rank, feeds, first) {
  /** @type {Net[][]} */
  const into = feeds.map(() => []);
  const out = new Int32Array(rank.length);
  for (const net of nets) {
    if (net.source >= 0) out[net.source]++;
    for (const target of net.targets) into[target].push(net);
  }
  for (let member = rank.length - 1; member >= 0; member--) {
    if (!feeds[member].length || !into[member].length || first(member)) continue;
    const wanted = latest(rank, feeds[member]);
    if (wanted <= rank[member]) continue;
    let longer = 0;
    for (const net of into[member]) {
      const shared = (/** @type {number} */ other) =>
        other !== member &&
        (rank[other] >= wanted || (feeds[other].length > 0 && latest(rank, feeds[other]) > rank[other]));
      if (!net.leaves && !net.targets.some(shared)) longer++;
    }
    if (longer < out[member]) rank[member] = wanted;
  }
}
