'use strict'

const fs = require('node:fs')
const path = require('node:path')

/*
 * What the apps respond with: all of them serve the same content.
 */

const fifty = Array.from({ length: 50 }, (_, i) => ({
  id: i + 1,
  name: `item ${i + 1}`,
  price: 5 + i * 3,
  quantity: 1 + i % 7,
  tags: ['web', 'framework', i % 2 ? 'odd' : 'even'],
  rating: { score: 40 + i, count: 100 + i }
}))

/** 50 items with a total each, computed for every request. */
exports.items = () => ({ items: fifty.map(item => ({ ...item, total: item.price * item.quantity })), count: fifty.length })

/** 100 KB of text, to be compressed. */
exports.TEXT = Array.from({ length: 1000 }, (_, i) => `Line ${i} of a text that compresses as prose does, ${(i * 7919) % 10_007} words and ${(i * 104_729) % 9973} more, to the end of this line.`)
  .join('\n').padEnd(102_400, '\n').slice(0, 102_400)

const FILES = { 'page.html': 2048, 'style.css': 16_384, 'picture.png': 131_072 }

/** The text of a file. */
const content = exports.content = name => `${name}: a file of ${FILES[name]} bytes.\n`.repeat(FILES[name] / 20).slice(0, FILES[name])

/** Write the files of the profile `assets` to a folder. */
exports.prepare = function (folder) {
  for (const name of Object.keys(FILES)) fs.writeFileSync(path.join(folder, name), content(name))
}
