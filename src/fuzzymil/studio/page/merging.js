// Two people, or two views, change the same text: their changes are joined line by line.

/**
 * The lines that differ: where they begin and end in the old text, and what stands there in the new one.
 * @param {string[]} old
 * @param {string[]} now
 */
function change(old, now) {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  const most = Math.min(old.length, now.length) - start;
  while (same < most && old[old.length - 1 - same] === now[now.length - 1 - same]) same++;
  return { start, end: old.length - same, lines: now.slice(start, now.length - same) };
}

/**
 * Both changes of a text, or null if they are about the same lines.
 * @param {string} base the text that both started from
 * @param {string} mine
 * @param {string} theirs
 * @returns {string | null}
 */
export function merged(base, mine, theirs) {
  if (base === theirs || mine === theirs) return mine;
  if (base === mine) return theirs;
  const old = base.split("\n");
  const both = [change(old, mine.split("\n")), change(old, theirs.split("\n"))].sort((a, b) => a.start - b.start);
  const [first, second] = both;
  if (first.end > second.start) return null;
  return [
    ...old.slice(0, first.start),
    ...first.lines,
    ...old.slice(first.end, second.start),
    ...second.lines,
    ...old.slice(second.end),
  ].join("\n");
}
