'use strict'

const { isDeepStrictEqual } = require('node:util')

/**
 * Smaller copies of a plan, the largest cuts first: of a list that `lists` names without one half or one member, and
 * with a field as `usual` has it.
 *
 *    smaller({ a: [1, 2], b: 5 }, { lists: ['a'], usual: { b: 0 } }) // { a: [2], b: 5 }, { a: [1], b: 5 }, { a: [1, 2], b: 0 }
 */
function * smaller (plan, { lists, usual }) {
  for (const [name, value] of Object.entries(plan)) {
    if (!lists.includes(name)) continue
    const half = value.length >> 1
    if (half > 1) yield * [value.slice(half), value.slice(0, half)].map(list => ({ ...plan, [name]: list }))
    for (let i = 0; i < value.length; i++) yield { ...plan, [name]: value.toSpliced(i, 1) }
  }
  for (const [name, value] of Object.entries(plan)) {
    const isKnown = name in usual && (usual[name] === null || typeof usual[name] === typeof value)
    if (isKnown && !isDeepStrictEqual(value, usual[name])) yield { ...plan, [name]: usual[name] }
  }
  for (const [name, value] of Object.entries(plan)) {
    if (lists.includes(name)) {
      for (const [i, one] of value.entries()) {
        if (isPlan(one)) for (const less of smaller(one, { lists, usual })) yield { ...plan, [name]: value.with(i, less) }
      }
    } else if (isPlan(value)) {
      for (const less of smaller(value, { lists, usual })) yield { ...plan, [name]: less }
    }
  }
}

const isPlan = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The smallest plan that is found in `ms` and `fails` still; what that gives, and the plan. */
async function shrink (plan, found, rules, fails, ms) {
  const until = Date.now() + ms
  for (const next of smaller(plan, rules)) {
    if (Date.now() > until) break
    const again = await fails(next)
    if (again) return shrink(next, again, rules, fails, until - Date.now())
  }
  return { plan, found }
}

module.exports = { shrink, smaller }
