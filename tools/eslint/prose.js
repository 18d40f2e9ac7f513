'use strict'

/** Words that strangers did not understand in the first build, and the field's words for them. */
const RETIRED = [
  { words: /\banswer(s|ed|ing)?\b/i, use: 'response, responds' },
  { words: /\b(the|a|its|each|this|one) heads?\b|\bheads? (is|are|of|was)\b/, use: 'headers, header section' },
  { words: /(?<!\/)\basked\b(?! for)/i, use: 'requested' },
  { words: /\btold\b/i, use: 'notified, reported' },
  { words: /\brooms?\b(?! of socket\.io)/i, use: 'module' },
  { words: /\blean\b/i, use: 'plain' },
  { words: /\b(stands?|standing|stood) aside\b/i, use: 'falls back to node:http' },
  { words: /\b(is|are|was|were) out\b(?! of\b)|\bout whole\b/i, use: 'sent, flushed' },
  { words: /\bwait(s|ing|ed)? for (its|their) turn\b/i, use: 'is queued' },
  { words: /\bwanted differences?\b|\bdifferences? that (is|are) wanted\b/i, use: 'intentional difference' },
  { words: /\bdifferences that stay\b/i, use: 'known differences' },
  { words: /\bnot mine\b/i, use: 'unsupported' },
  { words: /\b(is|are|was) none\b/i, use: 'is missing, is not one' },
  { words: /\bhangs? together\b/i, use: 'depend on each other' },
  { words: /\b(hears?|heard) of\b/i, use: 'is notified of' },
  { words: /\blies? at\b/i, use: 'is stored in' }
]

// Examples in JSDoc stand four columns further in than its text.
const withoutCode = line => /^ \* {4,}/.test(line) ? '' : line.replace(/`[^`]*`/g, '')

/** An ESLint rule: no retired word in comments, texts of several words, and Markdown without its code. */
exports.rule = {
  meta: { type: 'suggestion', schema: [] },

  create (context) {
    function check (text, { start }) {
      if (!/\S\s+\S/.test(text)) return
      text.split('\n').map(withoutCode).forEach((line, i) => {
        for (const { words, use } of RETIRED) {
          const found = words.exec(line)
          if (found) context.report({ loc: { line: start.line + i, column: 0 }, message: `"${found[0]}": ${use}` })
        }
      })
    }

    return {
      Program () {
        for (const { value, loc } of context.sourceCode.getAllComments()) check(value, loc)
      },
      Literal ({ value, loc }) {
        if (typeof value === 'string') check(value, loc)
      },
      TemplateElement ({ value, loc }) {
        check(value.cooked ?? value.raw, loc)
      }
    }
  }
}

/** A parser for ESLint: Markdown as one comment, its code as blanks. */
exports.markdown = {
  meta: { name: 'kone-markdown' },
  parse (text) {
    const blank = text => text.replace(/[^\n]/g, ' ')
    const value = text
      .replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, blank)
      .replace(/`[^`\n]*`/g, blank)
      .replace(/\]\([^)\s]*\)/g, blank)
    const place = { range: [0, text.length], loc: { start: { line: 1, column: 0 }, end: { line: text.split('\n').length, column: 0 } } }
    return { type: 'Program', body: [], tokens: [], comments: [{ type: 'Block', value, ...place }], ...place }
  }
}
