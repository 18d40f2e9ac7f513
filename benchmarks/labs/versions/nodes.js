'use strict'

const { compare } = require('../../lib/servers/binaries')

// The last version of each line of Node, or the one that a report was made on. A major version alone is the newest of its line.
const QUICK = ['0.8.28', '8.17.0', '20.20.2', '26']
const DEFAULT = [...QUICK, '0.10.48', '0.12.18', '4.9.1', '6.9.2', '12.22.12', '16.20.2']

/** All of them, oldest first. */
const ALL = exports.ALL = [...DEFAULT, '7.6.0', '10.24.1', '14.21.3', '18.20.8', '22.23.3', '24.21.0'].sort(compare)

/** Those of a run with these options, oldest first. */
exports.chosen = ({ quick, all }) => [...(all ? ALL : quick ? QUICK : DEFAULT)].sort(compare)

/** The first version that each contender runs on; the others name it in the `engines` of their package.json. */
const FIRST = { node: '0.8.0', koa: '8.1.4', kone: '20.0.0' }

/** The versions of Node, oldest first, that a contender runs on. */
exports.versionsOf = name => ALL.filter(version => compare(version, FIRST[name]) >= 0)

/** The line of a version: '0.10' of '0.10.48', '26' of '26'. */
exports.label = version => /^(0\.)?\d+/.exec(version)[0]
