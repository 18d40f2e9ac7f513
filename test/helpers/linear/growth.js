'use strict'

/*
 * Does a cost grow in proportion to its input? CPU time of this process, so that other processes do not count; the least
 * of several runs, because noise only adds; judged by runs of 20 ms or more, because shorter ones measure the clock.
 */

const FLOOR = 20_000 // µs
const NOTICEABLE = 4000
const HOPELESS = 2_000_000 // once is enough
const ROUNDS = 5
const MOST_ROUNDS = 30 // beside other programs
const MOST = 2.6 // times per doubling: 2 is linear, 4 quadratic
const LEAST = 1.7 // less is not linear, either: the text is refused or cut
const STEP = 4
const SMALLEST = 256
// What a header section may have on the wire
const LARGEST = Number(process.env.KONE_LINEAR_SIZE) || 16 * 1024

/**
 * Measure a run at growing sizes. One that takes 4 ms is judged: at n, 2n and 4n, where n is the first size at which it
 * takes 20 ms, however long the text has to be for that; where it grew too much, also at 8n. What never takes 4 ms is cheap
 * enough, whatever its growth.
 *
 *    const found = await superLinear(size => parse(' '.repeat(size)))
 *    assert.equal(found, undefined, found)
 */
exports.superLinear = async function (run, { largest = LARGEST } = {}) {
  for (let size = SMALLEST; size <= largest; size *= STEP) {
    if (await cpu(run, size) < NOTICEABLE) continue
    const cost = await least(run, size)
    if (cost < NOTICEABLE) continue
    // Noise makes these larger, not the cost before. The first one, so that the cubic is not waited for.
    if (await cpu(run, 2 * size) <= MOST ** 2 * cost && await cpu(run, 4 * size) <= MOST ** 2 * cost) return
    return judge(run, size)
  }
}

async function judge (run, size) {
  for (; ; size *= 2) {
    const cost = await least(run, size)
    if (cost >= FLOOR) return growth(run, size, cost)
  }
}

/**
 * Over two doublings: 16 times is quadratic. Each round measures all sizes, so that a busy moment of the machine does not
 * fall on one of them, and the least of all rounds counts. Where the objects of a run begin to be moved by the garbage
 * collector, a linear cost makes a step and is linear again behind it. So what grew too much from n to 4n must do so from
 * 2n to 8n, too.
 */
async function growth (run, size, cost) {
  const costs = [cost, Infinity, Infinity, Infinity]
  const measure = async i => { costs[i] = Math.min(costs[i], await cpu(run, size * 2 ** i)) }
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    if (round > 1) await measure(0)
    await measure(1)
    if (costs[1] >= HOPELESS) break
    if (costs[1] > MOST ** 2 * costs[0]) continue
    await measure(2)
    if (costs[2] <= MOST ** 2 * costs[0]) return
    if (round < ROUNDS) continue
    await measure(3)
    if (costs[3] >= LEAST * costs[2] && costs[3] <= MOST ** 2 * costs[1]) return
  }
  return costs.filter(isFinite).map((cost, i) => `${2 ** i * size}: ${ms(cost)}`).join(', ')
}

function ms (cost) {
  return `${(cost / 1000).toFixed(1)} ms`
}

async function least (run, size) {
  let best = Infinity
  for (let i = 0; i < ROUNDS && (i === 0 || best < HOPELESS); i++) best = Math.min(best, await cpu(run, size))
  return best
}

async function cpu (run, size) {
  const before = process.cpuUsage()
  await run(size)
  const { user, system } = process.cpuUsage(before)
  return user + system
}
