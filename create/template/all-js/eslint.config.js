import neostandard from 'neostandard'

export default neostandard()
