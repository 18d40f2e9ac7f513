'use strict'

/**
 * One part after the other, as long as there is time for another like the longest so far.
 *
 *    await inTime([{ name: 'routes', act: () => measure('routes') }], { left: () => 5000, skip: console.error })
 *
 * @param {{ name: string, act: () => Promise<void>, size?: number, seconds?: number }[]} parts size: how long it takes
 *   beside the others, if not as long; seconds: what its loads alone take
 * @param {{ left: () => number, skip: (name: string) => void, begin?: (i: number) => void }} how left: ms; skip is called
 *   with the name of what is left out, begin with the index of the part that is next
 */
module.exports = async function inTime (parts, { left, skip, begin = () => {} }) {
  let longest = 0 // ms, of size 1
  for (const [i, { name, act, size = 1, seconds = 0 }] of parts.entries()) {
    if (left() < Math.max(longest * size, seconds * 1000)) {
      skip(name)
      continue
    }
    begin(i)
    const start = performance.now()
    await act()
    longest = Math.max(longest, (performance.now() - start) / size)
  }
}
