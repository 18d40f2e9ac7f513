'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { ESLint } = require('eslint')

const root = path.join(__dirname, '..', '..')
const eslint = new ESLint({ cwd: root })

async function rulesBroken (source, file) {
  const text = `'use strict'\n\nmodule.exports = text => ${source}\n`
  const [{ messages }] = await eslint.lintText(text, { filePath: path.join(root, file) })
  return messages.map(({ ruleId }) => ruleId)
}

describe('make lint', () => {
  for (const file of ['lib/one.js', 'lib/front/one.js', 'middleware/one.js', 'middleware/static/one.js']) {
    it(`should refuse an expression that takes more than linear time in ${file}`, async () => {
      assert.deepEqual(await rulesBroken('/^[ \\t]*\\d* *$/.test(text)', file), ['regexp/no-super-linear-backtracking'])
      assert.deepEqual(await rulesBroken("text.replace(/[ \\t]+$/, '')", file), ['regexp/no-super-linear-move'])
      assert.deepEqual(await rulesBroken('/^[ \\t]*\\d+$/.test(text)', file), [])
    })
  }
})
