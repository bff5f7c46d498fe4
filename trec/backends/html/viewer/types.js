// What the parts of the page hand to one another. The data that Python writes is described in `trec/backends/html/data.py`.

/** @typedef {number} Item a node, or a scope as the number of nodes and its own index added up */

/**
 * What stands on a box or in the title of a frame, and how that looks whatever the theme is.
 *
 * @typedef {object} Face
 * @property {string} title
 * @property {string} subtitle beside the title; may be empty
 * @property {string} detail below the title; may be empty
 * @property {"box" | "pill" | "circle" | "point"} shape
 * @property {string} role name of its colours in a theme
 * @property {"solid" | "dashed" | "dotted"} line stroke of the border
 * @property {number} size font size of the title in points
 * @property {boolean} bold
 * @property {boolean} error whether it shows a call that failed
 * @property {number} times for how many equal calls it stands
 */

/**
 * Colours of a box, as `#rrggbb`, and the stroke of its border.
 *
 * @typedef {object} Paint
 * @property {string} fill
 * @property {string} border
 * @property {string} text
 * @property {string} muted
 * @property {"solid" | "dashed" | "dotted"} line
 * @property {number} width
 */

/**
 * @typedef {object} Theme
 * @property {string} background
 * @property {string} text
 * @property {string} label
 * @property {string} edge
 * @property {string} carried
 * @property {string} error
 * @property {[string, string]} scale colours of the least and of the greatest number
 * @property {Record<string, Paint>} paints by role
 */

/**
 * What is chosen of a graph: a picture follows from it and from the graph alone.
 *
 * @typedef {object} View
 * @property {Uint8Array} open for each scope, whether what it holds is shown
 * @property {boolean} folded whether one of several equal calls stands for all
 * @property {boolean} state whether parameters and buffers are shown
 * @property {boolean} constants
 * @property {boolean} views whether operators that only change a shape are shown
 * @property {boolean} columns whether long chains of boxes go on beside themselves
 * @property {"changes" | "all" | "none"} shapes which shapes are written along wires
 */

/**
 * The boxes, frames and wires of a graph as it is viewed, without positions.
 *
 * @typedef {object} Picture
 * @property {Item[]} boxes what each box stands for, in program order: a node, or a closed scope, or a call of one node
 * @property {number[]} nodes for each box, the node that it is; -1 for a closed scope of several
 * @property {Face[]} faces what stands on each box
 * @property {Int32Array} around for each box, the frame that it lies in; -1 for none
 * @property {number[]} frames for each frame, its scope; each follows the one around it
 * @property {Face[]} titles what stands at the top of each frame
 * @property {Int32Array} outer for each frame, the frame around it; -1 for none
 * @property {(node: number) => number} boxOf the box of a node, or that of the closed scope that it is in; -1 if it is hidden
 * @property {(scope: number) => number} frameOf the frame that a scope is or lies in; -1 for none
 * @property {Map<number, number[]>} together inputs or outputs that are drawn as one, by the first of them, whose box it is
 * @property {Wire[]} wires
 */

/**
 * All uses between the same two boxes.
 *
 * @typedef {object} Wire
 * @property {number} source index of a box
 * @property {number} target index of a box
 * @property {number} value the first value that is used
 * @property {number} count how many uses there are
 * @property {number} stroke index into `STROKES`
 * @property {string} label what is written along it; may be empty
 * @property {number} flow equal for wires from one box along which the same several values flow; -1 where it is one
 */

/**
 * A picture whose parts have their places; all lengths are in points, x grows to the right and y downwards.
 *
 * @typedef {object} Scene
 * @property {Picture} picture
 * @property {number} width
 * @property {number} height
 * @property {boolean} sideways whether the flow goes from side to side
 * @property {Float64Array} places left, top, width and height of each box
 * @property {Float64Array} frames left, top, width and height of each frame
 * @property {Float64Array} titles how far from the corner of each frame its title is, right and down, and 1 where its subtitle is on a second line
 * @property {import("./layout/routes.js").Routes} routes the points that each wire passes
 * @property {import("./layout/forks.js").Forks} parts each route from where it leaves those that it shares a line with
 * @property {Note[]} notes the texts along the wires
 * @property {import("./chunks.js").Chunks} boxIndex finds boxes by place
 * @property {import("./chunks.js").Chunks} frameIndex
 * @property {import("./chunks.js").Chunks} wireIndex
 * @property {import("./chunks.js").Chunks} noteIndex
 */

/**
 * @typedef {object} Note
 * @property {string} text
 * @property {number} x of its centre
 * @property {number} y
 * @property {number} wire the first wire that it belongs to
 */

/**
 * What is highlighted, by index into the boxes and wires of the picture.
 *
 * @typedef {object} Lit
 * @property {Map<number, "up" | "down" | "path">} boxes
 * @property {Map<number, "up" | "down" | "path">} wires
 * @property {boolean} dims whether all else is shown faintly
 */

/**
 * Everything about the page that changes. `App.set` changes it and tells those who watch.
 *
 * @typedef {object} State
 * @property {View} view
 * @property {"light" | "dark"} theme
 * @property {string} colourBy a key of `COLOURINGS`
 * @property {Item} selected -1 for none
 * @property {Item} hovered -1 for none
 * @property {Lit | null} lit
 * @property {Set<Item>} hits what a search found
 * @property {Scene} scene follows from `view`
 * @property {{ x: number, y: number, zoom: number }} camera the point at the top left, and pixels for each point
 */

export {};
