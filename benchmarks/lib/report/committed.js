'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { z } = require('zod')
const { problems } = require('../run/result')
const Figures = require('./figures')

/*
 * The results of a folder. They are known by what they hold, not by their names: the newest of a lab and a major
 * version of Node counts.
 */

const text = z.string().min(1)
const figure = z.number().positive()
const schema = z.object({
  lab: text,
  date: z.iso.datetime({ offset: true }),
  node: z.string().regex(/^v\d+\.\d+\.\d+/, 'must be a version, as v26.1.0'),
  command: text,
  commit: z.object({ hash: text, dirty: z.boolean().optional() }).nullish(),
  machine: z.object({ cpu: text, cores: z.number().int().positive(), kernel: text }),
  contenders: z.array(z.object({ name: text, version: text })),
  rows: z.array(z.object({
    workload: text,
    contender: text,
    metric: text,
    unit: text,
    median: figure,
    min: figure,
    p25: figure,
    max: figure,
    rounds: z.array(figure).min(3)
  })).min(1),
  rejected: z.array(z.object({ workload: text, contender: text, reason: text })).optional(),
  missing: z.array(z.object({ name: text, how: text })).optional(),
  skipped: z.array(z.object({ part: text, reason: text })).optional(),
  conditions: z.array(z.object({ load: z.number(), steal: z.number(), others: z.number() })).optional(),
  harness: z.array(z.object({ generator: text })).optional(),
  derived: z.looseObject({}).optional()
})

/**
 * Why something is not the result of a lab: one line that names the field.
 *
 *    fault({ lab: 'battle' }) // 'date: Invalid input: expected string, received undefined'
 *
 * @param {*} result
 * @return {string|null}
 */
const fault = exports.fault = function (result) {
  const { error } = schema.safeParse(result)
  if (!error) return problems(result)[0] ?? null
  const [{ path: where, message }] = error.issues
  const field = where.map(key => typeof key === 'number' ? `[${key}]` : `.${key}`).join('').replace(/^\./, '')
  return `${field || 'the whole file'}: ${message}`
}

/**
 * The results in a folder and below it.
 *
 * @param {string} folder
 * @return {{ results: object[], faults: string[] }} faults: a line for each file that is left out
 */
exports.read = function (folder) {
  const files = fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true }).filter(file => file.endsWith('.json')).sort()
    : []
  const results = []
  const faults = []
  for (const file of files) {
    let found
    try {
      const result = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'))
      found = fault(result)
      if (!found) results.push({ ...result, missing: result.missing ?? [], rejected: result.rejected ?? [] })
    } catch (err) {
      found = err instanceof SyntaxError ? `the whole file: it is not JSON (${err.message})` : err.message
    }
    if (found) faults.push(`${file} is left out: ${found}`)
  }
  return { results, faults }
}

/**
 * The newest result of each lab on each major version of Node; a quick run only where there is nothing better.
 *
 * @param {object[]} results
 * @return {Map<string, Figures[]>} by lab, the newest Node first
 */
exports.newest = function (results) {
  const labs = new Map()
  const worth = ({ derived, date }) => [derived?.quick ? 0 : 1, Date.parse(date)]
  const order = ([aFull, a], [bFull, b]) => aFull - bFull || a - b
  for (const result of [...results].sort((a, b) => order(worth(a), worth(b)))) {
    if (!labs.has(result.lab)) labs.set(result.lab, new Map())
    const figures = new Figures(result)
    labs.get(result.lab).set(figures.major, figures)
  }
  return new Map([...labs].map(([lab, majors]) => [lab, [...majors.values()].sort((a, b) => b.major - a.major)]))
}
