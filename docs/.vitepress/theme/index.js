import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

// The figures of docs/index.md, which `make report` writes: bars, and what they are of.
const Measured = {
  setup () {
    const { frontmatter } = useData()
    return () => {
      const { text, of, bars } = frontmatter.value.measured
      const most = Math.max(...bars.map(({ cpu }) => cpu))
      const chart = [
        h('p', { class: 'what' }, 'CPU per request, µs: hello world, five middleware'),
        h('ul', bars.map(({ name, cpu }) => h('li', { class: { kone: name === 'kone' } }, [
          h('span', { class: 'who' }, name), h('span', { class: 'bar', style: { width: `${cpu / most * 100}%` } }), h('strong', String(cpu))
        ]))),
        h('p', { class: 'of' }, of)
      ]
      return h('figure', { class: 'measured' }, [
        ...bars.length ? chart : [],
        h('figcaption', [`${text} `, h('a', { href: '/reports/' }, 'All results, and how they are measured'), '.'])
      ])
    }
  }
}

// What to edit, where the site does not know its repository's address.
const Source = {
  setup () {
    const { page, theme } = useData()
    return () => theme.value.editLink ? null : h('p', { class: 'source' }, ['Source: ', h('code', page.value.filePath)])
  }
}

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'home-hero-image': () => h(Measured), 'doc-footer-before': () => h(Source) })
}
