'use strict'

// Of the process, because what overload measures is: the event loop and the memory.
const refused = new Map() // reason → requests
let isUsed = false
let last = () => ({})

/**
 * What overload measures and has refused, for health and metrics, which must not import it.
 *
 *    state() // { refused: { eventLoopDelay: 12 }, isOverloaded: false, eventLoopDelay: 3.1, … }
 *
 * @return {object|null} null while the process has no overload
 * @api private
 */
exports.state = () => isUsed ? { ...last(), refused: Object.fromEntries(refused) } : null

/** @param {() => any} figures of the monitor that was made last */
exports.use = function (figures) {
  isUsed = true
  last = figures
}

/** @param {string} reason of a refused request */
exports.refused = function (reason) {
  refused.set(reason, (refused.get(reason) ?? 0) + 1)
}
